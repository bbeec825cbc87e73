import { start } from './vue-app.js';

start((view) => view());
