// Runs on the page for addresses where nothing is: says so in the visitor's language.
import { appearanceInAddress, wear } from './appearance.js';
import { writeAll } from './words.js';

wear(appearanceInAddress());
writeAll();
