// Colours that a host page asks for, and the look in an address.
import { coloursOf, contrast, lookInAddress } from '../../../../pages/shared/appearance.js';

describe('the colours of a host page', () => {
  const grounds = { light: '#ffffff', dark: '#191f29' };

  it.each(['#ffee00', '#000000', '#ffffff', '#c2185b', '#7f7f7f'])(
    'allow the readable accent %s',
    (accent) => {
      const colours = coloursOf(accent);
      for (const [theme, ground] of Object.entries(grounds)) {
        const [own = '', on = ''] = [colours[`--accent-${theme}`], colours[`--on-accent-${theme}`]];
        expect(contrast(own, ground)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(own, on)).toBeGreaterThanOrEqual(4.5);
      }
    },
  );

  it.each(['red', '#fff', 'url(x)', '#2f5bd0;x'])('ignore the invalid value %s', (text) => {
    expect(Object.values(coloursOf(text, text)).filter(Boolean)).toEqual([]);
  });

  it('are sent in the address with the other appearance settings and nothing else', () => {
    expect(lookInAddress('?theme=blue&hideHeader=true&lang=de&other=1')).toEqual({
      theme: undefined,
      accent: undefined,
      lang: 'de',
      hideHeader: true,
      font: undefined,
      background: undefined,
      fullWidth: false,
    });
  });
});
