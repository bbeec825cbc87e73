// The same as a Vite app of Vue 3.
import { createApp, defineComponent, h, shallowRef } from 'vue';
import { EmbeddedInstance } from '@embedded-token-exchange/embed/vue';
import { host } from './host.js';

const App = defineComponent(() => {
  const state = shallowRef(host.state);
  host.set = (value) => (state.value = value);
  return () =>
    state.value.isShown
      ? h(EmbeddedInstance, {
          url: host.instance,
          title: 'Automation',
          userKey: state.value.userKey,
          fetchToken: () => host.fetchToken(state.value.userKey),
          onSessionReady: ({ userId }: { userId: string }) => host.events.push(`ready ${userId}`),
          onLoginFailed: ({ error }: { error: string }) => host.events.push(`failed ${error}`),
        })
      : h('p', 'Nothing');
});

createApp(App).mount('#app');
