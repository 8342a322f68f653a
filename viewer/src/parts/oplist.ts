// A list of operations that is read by pages: which have been read, and how many operations there
// are.
import { Op, PAGE, Page } from "../run/api";
import { errorText } from "../run/format";

// low, high: the least and the greatest possible number of operations; known: count is exact;
// focus: the index of the operation that the first page was searched for; gone: the list is not
// shown any more
export class OpList {
  readonly pages = new Map<number, Op[]>();
  count = 0;
  low = 0;
  known = false;
  focus = -1;
  error: string | undefined;
  loaded = false;
  gone = false;
  followed: Op | undefined;
  private readonly asked = new Set<number>();
  private high = Infinity;
  private looking = false;

  constructor(
    private readonly load: (skip: number, first: boolean) => Promise<Page>,
    private readonly changed: () => void,
  ) {}

  // ahead: so many pages are read in advance
  begin(ahead: number) {
    this.asked.add(-1);
    this.load(0, true).then(
      (p) => {
        if (this.gone) return;
        this.put(p);
        this.asked.add(p.skip / PAGE);
        this.focus = p.index ?? -1;
        this.followed = p.followed;
        this.changed();
        void this.readOn(ahead);
      },
      (e) => {
        this.error = errorText(e);
        this.loaded = true;
        this.changed();
      },
    );
  }

  // Reads the pages of these operations, unless they have been asked for.
  want(first: number, last: number) {
    if (!this.loaded) return;
    const lastPage = Math.floor(Math.max(first, last - 1) / PAGE);
    for (let p = Math.floor(first / PAGE); p <= lastPage; p++)
      if (p * PAGE < this.count && !this.asked.has(p)) {
        this.asked.add(p);
        this.read(p * PAGE);
      }
  }

  setTotal(n: number) {
    this.count = n;
    this.known = true;
  }

  private read(skip: number) {
    this.load(skip, false).then(
      (p) => {
        if (!this.gone) {
          this.put(p);
          this.changed();
        }
      },
      (e) => {
        this.error = errorText(e);
        this.changed();
      },
    );
  }

  private put(p: Page) {
    this.pages.set(p.skip / PAGE, p.ops);
    if (p.total !== undefined) this.setTotal(p.total);
    else if (!this.known && p.ops.length) {
      const end = p.skip + p.ops.length;
      this.low = Math.max(this.low, end);
      if (p.more) this.count = Math.max(this.count, Math.min(this.high, 2 * end + PAGE));
      else this.setTotal(end);
    } else if (!this.known) {
      this.high = Math.min(this.high, p.skip);
      this.count = this.high;
      if (p.skip) void this.findEnd();
      else this.known = true;
    }
    this.loaded = true;
  }

  // If the number of operations is unknown, the list grows as people scroll down. Scrolling past
  // the end starts a binary search for it.
  private async findEnd() {
    if (this.looking) return;
    this.looking = true;
    while (!this.known && !this.gone) {
      const first = Math.floor(Math.max(0, this.low - 1) / PAGE);
      const last = this.high / PAGE;
      if (last - first <= 1) {
        this.setTotal(this.low);
        break;
      }
      const middle = (first + last) >> 1;
      this.asked.add(middle);
      try {
        this.put(await this.load(middle * PAGE, false));
      } catch (e) {
        this.error = errorText(e);
        break;
      }
    }
    this.looking = false;
    if (!this.gone) this.changed();
  }

  private async readOn(ahead: number) {
    for (let k = 0; k < ahead && !this.known && !this.gone; k++) {
      const next = Math.floor(this.low / PAGE);
      if (this.asked.has(next)) break;
      this.asked.add(next);
      try {
        this.put(await this.load(next * PAGE, false));
      } catch {
        break;
      }
    }
    if (ahead && !this.gone) this.changed();
  }
}
