// ioredis and node-redis as their users set them up: one command, MULTI, a pipeline.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, port] = [process.argv[2], Number(process.argv[3])];
const require = createRequire(join(folder, 'package.json'));
const Redis = require('ioredis');
const { createClient } = require('redis');
const version = (name) => JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'))).version;

const expect = (what, found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    console.error(`${what}: ${JSON.stringify(found)} (expected: ${JSON.stringify(expected)})`);
    process.exit(1);
  }
};

const io = new Redis(port, '127.0.0.1');
expect('ioredis: one call', (await io.call('CL.THROTTLE', 'io', 4, 5, 60)).slice(0, 3), [0, 5, 4]);
const multi = await io.multi().call('CL.THROTTLE', 'io', 4, 5, 60).call('CL.THROTTLE', 'io', 4, 5, 60).exec();
expect('ioredis: multi', multi.map(([error, reply]) => [error, reply[0]]), [[null, 0], [null, 0]]);
const line = io.pipeline();
for (let i = 0; i < 3; i++) line.call('CL.THROTTLE', 'io', 4, 5, 60);
expect('ioredis: pipeline', (await line.exec()).map(([, reply]) => reply[0]), [0, 0, 1]);
await io.quit();
console.log('ioredis ' + version('ioredis'));

const node = createClient({ url: `redis://127.0.0.1:${port}` });
await node.connect();
expect('node-redis: ping', await node.ping(), 'PONG');
const call = ['CL.THROTTLE', 'node', '1', '2', '60'];
expect('node-redis: one call', (await node.sendCommand(call)).slice(0, 3), [0, 2, 1]);
const both = await node.multi().addCommand(call).addCommand(call).exec();
expect('node-redis: multi', both.map((reply) => reply[0]), [0, 1]);
await node.close();
console.log('node-redis ' + version('redis'));
