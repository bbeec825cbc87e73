// Keeps the page's place in the tab's history, and reports its path to the host page.
import type { Place } from './place.js';
import { pathOf, placeOf } from './place.js';

export class Steps {
  /** The current place. */
  place: Place;
  /** If the host page keeps the history, the page only replaces its own entry. */
  isHostKeeping = false;

  /** @param tell receives each path before it is shown, and whether the visitor has opened or closed a view */
  constructor(
    private readonly tell: (path: string, isStep: boolean) => void,
    private readonly show: (place: Place) => void,
  ) {
    this.place = placeOf(location.hash);
    addEventListener('popstate', () => this.arrive(placeOf(location.hash), true));
  }

  /** Goes to a place and adds a history entry. @param isStep true for the visitor, false for the host page */
  go(place: Place, isStep = true): void {
    if (this.isHostKeeping || pathOf(place) === pathOf(this.place)) this.write(place, false);
    else history.pushState({ isOwn: isStep }, '', addressOf(place));
    this.arrive(place, isStep);
  }

  /** Starts at a place in the current history entry. */
  begin(place: Place): void {
    this.write(place, false);
    this.place = place;
  }

  /** Returns to the list. It goes back in the history if the page itself added the workflow's entry, so that entries do not pile up. */
  goToList(): void {
    const { isOwn } = (history.state ?? {}) as { isOwn?: boolean };
    if (isOwn === true && !this.isHostKeeping) return history.back();
    const list = { ...this.place, workflow: null };
    this.write(list, false);
    this.arrive(list, true);
  }

  /** Replaces the place of the current history entry without showing it. */
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
