// The page's place in the history of the tab, and in the paths that the host page hears.
import { pathOf, placeOf } from './place.js';
import type { Place } from './place.js';

export class Steps {
  /** Where the page is. */
  place: Place;
  /** Whether the host page keeps the history, so that the page only replaces its own entry. */
  isHostKeeping = false;

  /** @param tell called with the path of each place before it is shown, and whether the visitor has opened or closed a view */
  constructor(
    private readonly tell: (path: string, isStep: boolean) => void,
    private readonly show: (place: Place) => void,
  ) {
    this.place = placeOf(location.hash);
    addEventListener('popstate', () => this.arrive(placeOf(location.hash), true));
  }

  /** Goes to a place in a step of its own. @param isStep whether the visitor does, not the host page */
  go(place: Place, isStep = true): void {
    if (this.isHostKeeping || pathOf(place) === pathOf(this.place)) this.write(place, false);
    else history.pushState({ isOwn: isStep }, '', addressOf(place));
    this.arrive(place, isStep);
  }

  /** Begins at a place, in the step that there is. */
  begin(place: Place): void {
    this.write(place, false);
    this.place = place;
  }

  /** Goes back to the list: in the history if the step to the workflow is of the page's own, so that steps do not pile up. */
  goToList(): void {
    const { isOwn } = (history.state ?? {}) as { isOwn?: boolean };
    if (isOwn === true && !this.isHostKeeping) return history.back();
    const list = { ...this.place, workflow: null };
    this.write(list, false);
    this.arrive(list, true);
  }

  /** Notes another place in the same step, without showing it. */
  replace(place: Place): void {
    this.write(place, (history.state as { isOwn?: boolean } | null)?.isOwn === true);
    this.place = place;
    this.tell(pathOf(place), false);
  }

  private write(place: Place, isOwn: boolean): void {
    history.replaceState({ isOwn }, '', addressOf(place));
  }

  private arrive(place: Place, isStep: boolean): void {
    this.place = place;
    this.tell(pathOf(place), isStep);
    this.show(place);
  }
}

function addressOf(place: Place): string {
  return location.pathname + location.search + pathOf(place).slice(1);
}
