/** A query's state in words. */
import { t } from '../language';
import type { InView } from './bench.svelte';

export function stateText(state: InView['state']): string {
  switch (state) {
    case 'running':
      return t('running');
    case 'suspended':
      return t('suspended');
    case 'failed':
      return t('failed');
    case 'stopped':
      return t('stopped');
  }
}
