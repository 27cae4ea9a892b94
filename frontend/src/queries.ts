import { mount } from 'svelte';
import './styles/index.css';
import './workbench/page.css';
import './workbench/query.css';
import './workbench/result.css';
import './workbench/chart.css';
import './workbench/explain.css';
import './workbench/narrow.css';
import { pageElement } from './ui/start';
import QueriesPage from './workbench/QueriesPage.svelte';

const target = await pageElement();
mount(QueriesPage, { target });
