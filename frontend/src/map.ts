import { mount } from 'svelte';
import MapPage from './map/MapPage.svelte';
import { App } from './store/app.svelte';
import './styles/index.css';
import { browser } from './wire/browser';

const target = document.getElementById('app');
if (target === null) throw new Error('The page has no #app element.');
const app = new App(browser, target.dataset['staff'] === '1');
mount(MapPage, { target, props: { app } });
