/** A house without a building: the map says whose turn it is. */
import { mount, unmount } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import MapPage from '../../src/map/MapPage.svelte';
import { openStores } from '../../src/store/stores';
import { one } from '../page';
import { Hand } from '../wire/hand';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('without a building the map says what to do', async () => {
  const refusal = { code: 'smartcis.actions.not_found', message: 'no building', try: 'staff import one' };
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(refusal), { status: 404 })));
  const page = mount(MapPage, {
    target: document.body,
    props: { stores: openStores(new Hand()), staff: false },
  });
  await vi.waitFor(() => {
    expect(one('[data-testid=load-problem]').textContent).toMatch(/no building.*staff import one/s);
  });
  await unmount(page);
});
