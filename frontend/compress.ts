/** Puts a gzip and a Brotli twin beside each file of a build, so that the server sends it without work. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(js|css|svg)$/;

export function compress(folder: string): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(folder).filter((one) => TEXT.test(one))) {
        const path = join(folder, name);
        const text = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${path}.br`, brotliCompressSync(text, { params: quality }));
      }
    },
  };
}
