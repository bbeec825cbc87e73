// The element as a component for Vue.
import type { PropType } from 'vue';
import { defineComponent, h, onMounted, shallowRef, watch } from 'vue';
import { EmbeddedInstance as Instance } from './embedded-instance.js';
import type { EmbeddedInstanceElement } from './embedded-instance-element.js';
import './embedded-instance-element.js';
import type { EmbeddedInstanceEvents } from './options.js';
import type { EmbeddedInstanceProps } from './props.js';
import { attributesOf } from './props.js';

type Emits = {
  [Name in keyof EmbeddedInstanceEvents]: (detail: EmbeddedInstanceEvents[Name]) => void;
};
const emits = Object.fromEntries(Instance.events.map((name) => [name, null])) as unknown as Emits;
const flag = { type: Boolean, default: undefined };

/** Emits the events of the element with their details; the element itself is the exposed `element`. */
export const EmbeddedInstance = defineComponent({
  name: 'EmbeddedInstance',
  props: {
    url: { type: String, required: true },
    title: { type: String, required: true },
    fetchToken: { type: Function as PropType<() => Promise<string>>, required: true },
    userKey: String,
    redirectTo: String,
    height: String as PropType<'auto'>,
    errorUi: String as PropType<'none'>,
    theme: String as PropType<EmbeddedInstanceProps['theme']>,
    accent: String,
    lang: String,
    font: String,
    background: String,
    hideHeader: flag,
    fullWidth: flag,
  },
  emits,
  setup(props, { emit, expose, slots }) {
    const element = shallowRef<EmbeddedInstanceElement>();
    const give = () => {
      if (element.value) element.value.fetchToken = props.fetchToken;
    };
    onMounted(() => {
      for (const name of Instance.events)
        element.value?.addEventListener(name, ({ detail }: CustomEvent) =>
          (emit as (event: string, data: unknown) => void)(name, detail),
        );
      give();
    });
    watch(() => props.fetchToken, give, { flush: 'post' });
    expose({ element });
    return () => h('embedded-instance', { ...attributesOf(props), ref: element }, slots['default']?.());
  },
});
