// `<KeepAlive>` takes the element out of the document and puts the same one back.
import { KeepAlive, h } from 'vue';
import { start } from './vue-app.js';

start((view) => h(KeepAlive, view));
