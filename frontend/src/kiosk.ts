import { mount } from 'svelte';
import KioskPage from './kiosk/KioskPage.svelte';
import { App } from './store/app.svelte';
import './styles/index.css';
import './styles/kiosk.css';
import { pageElement } from './ui/start';
import { browser } from './wire/browser';

const target = pageElement();
document.documentElement.classList.add('kiosk-page');
// A kiosk belongs to whoever stands before it, so it never acts as staff.
const app = new App(browser, false, target.dataset.kiosk ?? '');
mount(KioskPage, { target, props: { app } });
