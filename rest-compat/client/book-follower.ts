import { bookStream } from './book-stream.ts';
import {
  BookRefused,
  type BookTransport,
  type FollowedBook,
  StreamBroken,
  type StreamOptions,
  shownSessionOf,
} from './book-subscription.ts';
import { BOOK_START, type BookCursor, chainStep, type FollowedEvent } from './event-chain.ts';

export type { BookTransport, FollowedBook } from './book-subscription.ts';
export type { BookCursor, FollowedEvent } from './event-chain.ts';

/** Where events go. It is called for one event of a book at a time, and for several books at once. */
export interface EventStore {
  /** The cursor that was committed last for that book; null where nothing of it is held. */
  load(agent_id: number): Promise<BookCursor | null> | BookCursor | null;
  /** Commits what is made of the event, and the cursor, in one transaction: so each event is taken once, whatever dies. */
  apply(event: FollowedEvent, cursor: BookCursor): Promise<void> | void;
}

export interface FollowerOptions extends StreamOptions {
  readonly books: readonly FollowedBook[];
  readonly store: EventStore;
  /** How events come: by server-sent events unless it is another, such as `bookSocket` of ./book-socket.ts. */
  readonly over?: BookTransport;
  /** What broke and will be tried again in `again_in_ms`: the way to the service, or the store. */
  on_trouble?(trouble: { readonly agent_id: number; readonly fault: unknown; readonly again_in_ms: number }): void;
  /** A book that is followed no further; the others are. */
  on_end?(end: BookEnd): void;
}

/** Why a book is followed no further. */
export type BookEnd = { readonly agent_id: number; readonly cursor: BookCursor } & (
  | { readonly kind: 'closed' }
  /** The service does not show it, or no more; `why` in its own words. */
  | { readonly kind: 'refused'; readonly code: string; readonly why: string }
  /** What came does not follow from what is held: kept with the cursor it shows that one of two histories is false. */
  | { readonly kind: 'unproven'; readonly why: 'gap' | 'altered' | 'unchained'; readonly event: FollowedEvent }
);

export interface BookFollower {
  /** How each book ended, once all have. Never rejects. */
  readonly ended: Promise<readonly BookEnd[]>;
  /** Resolves when no call to the store is under way. */
  close(): Promise<void>;
}

const PAUSE_MS = 250;
const PAUSE_MS_MAX = 30_000;
/** A gap may be the wire's doing: it is asked for again so often before it is called one. */
const GAPS_MAX = 3;

/**
 * Follows books from where its store stands, for ever: each event of a book in order of position, once, and proven by the
 * hash chain to be the one after the last. Where anything breaks it comes back, from the committed cursor.
 * @throws TypeError where a book is listed twice
 */
export function createBookFollower(options: FollowerOptions): BookFollower {
  const agents = options.books.map(({ agent_id }) => agent_id);
  if (new Set(agents).size < agents.length)
    throw new TypeError('a book is listed twice: its events would be taken twice');
  const closing = new AbortController();
  const ended = Promise.all(
    options.books.map(async book => {
      const end = await follow(book, options, closing.signal);
      tell(() => options.on_end?.(end));
      return end;
    }),
  );
  return {
    ended,
    async close() {
      closing.abort();
      await ended;
    },
  };
}

/** Whoever is told cannot break what they are told of. */
function tell(listener: () => unknown): void {
  void (async () => listener())().catch(() => {});
}

/** What became of one connection: whether the book came on by it, and why it is over. */
type Passage = { readonly moved: boolean } & (
  | { readonly kind: 'broken'; readonly fault: unknown }
  | { readonly kind: 'ended'; readonly end: BookEnd }
);

async function follow(book: FollowedBook, options: FollowerOptions, signal: AbortSignal): Promise<BookEnd> {
  const held = { agent_id: book.agent_id, cursor: BOOK_START };
  let [failures, gaps] = [0, 0];
  while (!signal.aborted) {
    const shown = showing(book);
    const passage = await unlessRotated(shown, await connect(shown.book, held, options, signal));
    if (signal.aborted) break;
    if (passage.moved) gaps = 0;
    if (passage.kind === 'broken') {
      failures = passage.moved ? 1 : failures + 1;
      const again_in_ms = pauseMs(failures, passage.fault);
      const { fault } = passage;
      tell(() => options.on_trouble?.({ agent_id: book.agent_id, fault, again_in_ms }));
      await pause(again_in_ms, signal);
      continue;
    }
    const { end } = passage;
    gaps = end.kind === 'unproven' && end.why === 'gap' ? gaps + 1 : GAPS_MAX;
    if (gaps >= GAPS_MAX) return end;
    await pause(pauseMs(gaps, null), signal);
  }
  return { ...held, kind: 'closed' };
}

/** The same book, and which session was shown for it last. */
function showing(book: FollowedBook) {
  const shown: { last: string | null } = { last: null };
  const session = async () => {
    shown.last = await shownSessionOf(book);
    return shown.last;
  };
  return { book: { ...book, session }, last: () => shown.last, rotates: typeof book.session !== 'string' };
}

/** A session ends when it is rotated: whoever can be asked for the one in force is, and the book ends where that is the one refused. */
async function unlessRotated(shown: ReturnType<typeof showing>, passage: Passage): Promise<Passage> {
  if (passage.kind === 'broken' || passage.end.kind !== 'refused' || passage.end.code !== 'forbidden') return passage;
  const refused = shown.last();
  if (!shown.rotates || refused === null) return passage;
  const { moved } = passage;
  try {
    if ((await shown.book.session()) === refused) return passage;
    return { kind: 'broken', moved, fault: new BookRefused(passage.end.code, passage.end.why) };
  } catch (fault) {
    return { kind: 'broken', moved, fault };
  }
}

/** One connection, from the committed cursor on. */
async function connect(
  book: FollowedBook,
  held: { readonly agent_id: number; cursor: BookCursor },
  options: FollowerOptions,
  signal: AbortSignal,
): Promise<Passage> {
  const { store, over = bookStream } = options;
  let moved = false;
  try {
    // Where a commit ended in doubt the store alone knows; what this process remembers is not asked.
    held.cursor = (await store.load(book.agent_id)) ?? BOOK_START;
    requirePosition(held.cursor);
    for await (const event of over(book, held.cursor.position, options, signal)) {
      requirePosition(event);
      const step = event.agent_id === book.agent_id ? chainStep(held.cursor, event) : ({ kind: 'altered' } as const);
      if (step.kind === 'known') continue;
      if (step.kind !== 'next')
        return { kind: 'ended', moved, end: { ...held, kind: 'unproven', why: step.kind, event } };
      await store.apply(event, step.cursor);
      held.cursor = step.cursor;
      moved = true;
      if (signal.aborted) break;
    }
    return { kind: 'broken', moved, fault: new StreamBroken('ended') };
  } catch (fault) {
    if (fault instanceof BookRefused)
      return { kind: 'ended', moved, end: { ...held, kind: 'refused', code: fault.code, why: fault.why } };
    return { kind: 'broken', moved, fault };
  }
}

/** Beyond those two positions may be one number, and the next one is not to be told. @throws StreamBroken */
function requirePosition({ position }: Pick<BookCursor, 'position'>): void {
  if (!Number.isSafeInteger(position) || position < 0) throw new StreamBroken('a position is no safe integer');
}

/** Twice as long each time, up to half a minute, and for each book another one: a restarted service is not met by all at once. */
function pauseMs(failures: number, fault: unknown): number {
  const asked_ms = fault instanceof StreamBroken ? fault.retry_after_ms : 0;
  const doubled_ms = PAUSE_MS * 2 ** Math.min(failures - 1, 10);
  return Math.min(Math.max(doubled_ms, asked_ms), PAUSE_MS_MAX) * (0.5 + Math.random() / 2);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}
