module example.com/weir/resp

go 1.21
