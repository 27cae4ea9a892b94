import { mount } from 'svelte';
import MapPage from './map/MapPage.svelte';
import { App } from './store/app.svelte';
import './styles/index.css';
import { pageElement } from './ui/start';
import { browser } from './wire/browser';

const target = pageElement();
const app = new App(browser, target.dataset.staff === '1');
mount(MapPage, { target, props: { app } });
