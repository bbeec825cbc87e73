// The same as a Vite app of Vue 3.
import type { VNode } from 'vue';
import { createApp, defineComponent, h, shallowRef } from 'vue';
import { EmbeddedInstance } from '@embedded-token-exchange/embed/vue';
import { host } from './host.js';

const Nothing = () => h('p', 'Nothing');

/** @param around puts the view into the app */
export function start(around: (view: () => VNode) => VNode): void {
  const App = defineComponent(() => {
    const state = shallowRef(host.state);
    host.set = (value) => (state.value = value);
    const view = () =>
      state.value.isShown
        ? h(EmbeddedInstance, {
            url: host.instance,
            title: 'Automation',
            userKey: state.value.userKey,
            fetchToken: () => host.fetchToken(state.value.userKey),
            onSessionReady: ({ userId }: { userId: string }) => host.events.push(`ready ${userId}`),
            onLoginFailed: ({ error }: { error: string }) => host.events.push(`failed ${error}`),
          })
        : h(Nothing);
    return () => around(view);
  });
  createApp(App).mount('#app');
}
