import { mount } from 'svelte';
import MapPage from './map/MapPage.svelte';
import { openStores } from './store/stores';
import './styles/index.css';
import { pageElement } from './ui/start';
import { browser } from './wire/browser';

const target = await pageElement();
mount(MapPage, { target, props: { stores: openStores(browser), staff: target.dataset.staff === '1' } });
