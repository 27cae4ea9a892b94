import { mount } from 'svelte';
import './styles/index.css';
import './styles/workbench.css';
import QueriesPage from './workbench/QueriesPage.svelte';

const target = document.getElementById('app');
if (target === null) throw new Error('The page has no #app element.');
mount(QueriesPage, { target });
