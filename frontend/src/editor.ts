import { mount } from 'svelte';
import EditorPage from './editor/EditorPage.svelte';
import './styles/index.css';
import './editor/editor.css';
import { pageElement } from './ui/start';

const target = await pageElement();
mount(EditorPage, { target });
