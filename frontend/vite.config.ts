import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { catalogues } from './catalogue';
import { compress } from './compress';

export default defineConfig({
  plugins: [svelte(), catalogues(), compress('dist/assets')],
  base: '/static/',
  publicDir: false,
  build: {
    outDir: 'dist',
    manifest: 'manifest.json',
    assetsInlineLimit: 0, // a data: address would need a wider content security policy
    modulePreload: { polyfill: false }, // the polyfill would be one more script for browsers we do not support
    rolldownOptions: {
      input: [
        'src/map.ts',
        'src/queries.ts',
        'src/query.ts',
        'src/kiosk.ts',
        'src/editor.ts',
        'src/pages.css',
        'src/admin.css',
      ],
    },
  },
  server: { fs: { allow: ['.', '../smartcis/locale'] } },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { environment: 'happy-dom', include: ['tests/**/*.test.ts'] },
});
