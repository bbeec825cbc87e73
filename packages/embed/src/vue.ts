// The element as a component for Vue.
import './embedded-instance-element.js';
import type { PropType } from 'vue';
import { defineComponent, h, onMounted, shallowRef, watch } from 'vue';
import { EmbeddedInstance as Instance } from './embedded-instance.js';
import type { EmbeddedInstanceElement } from './embedded-instance-element.js';
import type { EmbeddedInstanceEvents } from './events.js';
import { ATTRIBUTES } from './options.js';
import type { EmbeddedInstanceProps } from './props.js';
import { attributesOf, PROPERTIES } from './props.js';

type Emits = {
  [Name in keyof EmbeddedInstanceEvents]: (detail: EmbeddedInstanceEvents[Name]) => void;
};
const emits = Object.fromEntries(Instance.events.map((name) => [name, null])) as unknown as Emits;

/** Vue's own form of the properties' types. */
type Props = {
  [Name in keyof EmbeddedInstanceProps]-?: {
    type: PropType<NonNullable<EmbeddedInstanceProps[Name]>>;
    required: undefined extends EmbeddedInstanceProps[Name] ? false : true;
  };
};
const options = PROPERTIES.map((name) => [
  name,
  { type: ATTRIBUTES[name].type, required: ['url', 'title'].includes(name), default: undefined },
]);
const props = {
  ...Object.fromEntries(options),
  fetchToken: { type: Function, required: true },
} as Props;

/** Emits the element's events with their details, and exposes the element as `element`. */
export const EmbeddedInstance = defineComponent({
  name: 'EmbeddedInstance',
  props,
  emits,
  setup(given, { emit, expose, slots }) {
    const element = shallowRef<EmbeddedInstanceElement>();
    const give = () => {
      if (element.value) element.value.fetchToken = given.fetchToken;
    };
    onMounted(() => {
      for (const name of Instance.events)
        element.value?.addEventListener(name, ({ detail }: CustomEvent) =>
          (emit as (event: string, data: unknown) => void)(name, detail),
        );
      give();
    });
    watch(() => given.fetchToken, give, { flush: 'post' });
    expose({ element });
    return () => h('embedded-instance', { ...attributesOf(given), ref: element }, slots['default']?.());
  },
});
