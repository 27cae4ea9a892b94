import { mount } from 'svelte';
import './styles/index.css';
import './styles/workbench.css';
import './styles/explain.css';
import { pageElement } from './ui/start';
import QueriesPage from './workbench/QueriesPage.svelte';

const target = pageElement();
mount(QueriesPage, { target });
