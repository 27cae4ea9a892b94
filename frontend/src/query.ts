import { mount } from 'svelte';
import './styles/index.css';
import './kiosk/kiosk.css';
import './workbench/result.css';
import './workbench/chart.css';
import './workbench/answer.css';
import { pageElement } from './ui/start';
import QueryPage from './workbench/QueryPage.svelte';

const target = await pageElement();
const { query = '', kiosk = '' } = target.dataset;
if (kiosk !== '') document.documentElement.classList.add('kiosk-page');
mount(QueryPage, { target, props: { id: query, kiosk } });
