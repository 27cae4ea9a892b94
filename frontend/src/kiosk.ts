import { mount } from 'svelte';
import KioskPage from './kiosk/KioskPage.svelte';
import { openStores } from './store/stores';
import './styles/index.css';
import './kiosk/kiosk.css';
import { pageElement } from './ui/start';
import { browser } from './wire/browser';

const target = await pageElement();
document.documentElement.classList.add('kiosk-page');
mount(KioskPage, { target, props: { stores: openStores(browser, target.dataset.kiosk ?? '') } });
