const TILE = 32;

/** The transpose of a row-major [rows, columns] matrix. Tiled: both sides stay in the cache. */
export function transpose(source: Float32Array, rows: number, columns: number): Float32Array {
  const target = new Float32Array(source.length);
  for (let rowStart = 0; rowStart < rows; rowStart += TILE) {
    const rowEnd = Math.min(rowStart + TILE, rows);
    for (let columnStart = 0; columnStart < columns; columnStart += TILE) {
      const columnEnd = Math.min(columnStart + TILE, columns);
      for (let row = rowStart; row < rowEnd; row += 1) {
        for (let column = columnStart; column < columnEnd; column += 1) {
          target[column * rows + row] = source[row * columns + column] as number;
        }
      }
    }
  }
  return target;
}
