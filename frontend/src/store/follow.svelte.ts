/** Views that a part of the page follows while it is shown. */
import type { Live } from './live.svelte';

/** Follow views from now until the component goes; to be called while it is set up. */
export function follow(live: () => Live, views: readonly string[]): void {
  for (const view of views) live().prepare(view);
  $effect(() => {
    const ends = views.map((view) => live().followMore(view));
    return () => {
      for (const end of ends) end();
    };
  });
}
