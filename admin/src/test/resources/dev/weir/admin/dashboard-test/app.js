export const weir = 1;
