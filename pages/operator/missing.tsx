// The view for an unknown address.
import { PageHead } from './parts.js';

export function MissingView() {
  return (
    <>
      <PageHead title="Page not found" lead="The address may be mistyped, or the page has moved." />
      <p>
        <a href="#/">To the overview</a>
      </p>
    </>
  );
}
