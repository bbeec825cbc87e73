// The same as a Vite app of Vue 3.
import { createApp, h } from 'vue';
import { host } from './host.js';

const fetchToken = () => host.fetchToken(host.state.userKey);

createApp({
  render: () => h('embedded-instance', { title: 'Automation', '.fetchToken': fetchToken }),
}).mount('#app');
