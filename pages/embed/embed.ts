// `/embed.js`: defines the element and the class in a page without a bundler.
import './embedded-instance-element.js';
import { EmbeddedInstance } from './embedded-instance.js';

Object.assign(globalThis, { EmbeddedInstance });
