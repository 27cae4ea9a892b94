import { mount } from 'svelte';
import KioskPage from './kiosk/KioskPage.svelte';
import { App } from './store/app.svelte';
import './styles/index.css';
import './styles/kiosk.css';
import { browser } from './wire/browser';

const target = document.getElementById('app');
if (target === null) throw new Error('The page has no #app element.');
document.documentElement.classList.add('kiosk-page');
// A kiosk belongs to whoever stands before it, so it never acts as staff.
const app = new App(browser, false, target.dataset['kiosk'] ?? '');
mount(KioskPage, { target, props: { app } });
