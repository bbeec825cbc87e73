// How much of a person an explanation shows.
import { masked, maskedEmail } from '../../../../src/token-exchange/explain/evaluated-request.js';

describe('masked values', () => {
  it.each([
    ['ann@product.example', 'a***@p***.example'],
    ['ann.lee@mail.product.example', 'a***@m***.example'],
    ['a@b.example', '***@***.example'],
    ['"a@b"@product.example', '"***@p***.example'],
    ['ann@localhost', 'a***@l***'],
    ['nobody', 'n***'],
    ['', '***'],
  ])('[D80] for %j show %s', (address, shown) => {
    expect(maskedEmail(address)).toBe(shown);
  });

  it.each([
    ['customer-1', 'c***'],
    ['7', '***'],
    ['', '***'],
    ['😀😀', '😀***'],
  ])('[D80] for the sub %j show %s', (sub, shown) => {
    expect(masked(sub)).toBe(shown);
  });
});
