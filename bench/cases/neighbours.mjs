export const neighbours = { name: 'neighbours', title: 'x', run: async () => ({ ratios: [] }) };
