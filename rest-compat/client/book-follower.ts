import { bookStream } from './book-stream.ts';
import {
  BookRefused,
  type BookTransport,
  currentSessionOf,
  type FollowedBook,
  StreamBroken,
  type StreamOptions,
} from './book-subscription.ts';
import { BOOK_START, type BookCursor, chainStep, type FollowedEvent } from './event-chain.ts';

export type { BookTransport, FollowedBook } from './book-subscription.ts';
export type { BookCursor, FollowedEvent } from './event-chain.ts';

/** Stores events. Called for one event of a book at a time, and concurrently for several books. */
export interface EventStore {
  /** The last committed cursor of that book; null if it has no events yet. */
  load(agent_id: number): Promise<BookCursor | null> | BookCursor | null;
  /**
   * Commits the event's effects and the cursor in one transaction, so that each event is applied once even after a
   * crash.
   */
  apply(event: FollowedEvent, cursor: BookCursor): Promise<void> | void;
}

export interface FollowerOptions extends StreamOptions {
  readonly books: readonly FollowedBook[];
  readonly store: EventStore;
  /** The transport; default: server-sent events. `bookSocket` of ./book-socket.ts is another. */
  readonly over?: BookTransport;
  /** Called when the connection or the store fails; it is tried again in `again_in_ms` milliseconds. */
  on_trouble?(trouble: { readonly agent_id: number; readonly fault: unknown; readonly again_in_ms: number }): void;
  /** Called when a book is not followed any more; the others are. */
  on_end?(end: BookEnd): void;
}

/** Why a book is not followed any more. */
export type BookEnd = { readonly agent_id: number; readonly cursor: BookCursor } & (
  | { readonly kind: 'closed' }
  /** The service refuses the book; `why` is its message. */
  | { readonly kind: 'refused'; readonly code: string; readonly why: string }
  /** The event does not follow from the stored cursor. Together they prove that one of two histories is false. */
  | { readonly kind: 'unproven'; readonly why: 'gap' | 'altered' | 'unchained'; readonly event: FollowedEvent }
);

export interface BookFollower {
  /** Resolves to the end of each book, once all have ended. Never rejects. */
  readonly ended: Promise<readonly BookEnd[]>;
  /** Resolves when no call to the store is in progress. */
  close(): Promise<void>;
}

const PAUSE_MS = 250;
const PAUSE_MS_MAX = 30_000;
/** A gap may be a transport error, so it is requested again this often. */
const GAPS_MAX = 3;

/**
 * Follows books from the cursors in the store. Each event of a book is applied once, in order of position, after the hash chain has proven
 * that it follows the last one. If the connection or the store fails, it continues from the committed cursor; it ends a book that is
 * refused or whose events do not follow. @throws TypeError if a book is listed twice
 */
export function createBookFollower(options: FollowerOptions): BookFollower {
  const agents = options.books.map(({ agent_id }) => agent_id);
  if (new Set(agents).size < agents.length)
    throw new TypeError('a book is listed twice, so its events would be applied twice');
  const closing = new AbortController();
  const ended = Promise.all(
    options.books.map(async book => {
      const end = await follow(book, options, closing.signal);
      notify(() => options.on_end?.(end));
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

/** A failing listener must not stop the follower. */
function notify(listener: () => unknown): void {
  void (async () => listener())().catch(() => {});
}

/** The result of one connection: whether it brought events, and why it ended. */
type ConnectionOutcome = { readonly moved: boolean } & (
  | { readonly kind: 'broken'; readonly fault: unknown }
  | { readonly kind: 'ended'; readonly end: BookEnd }
);

async function follow(book: FollowedBook, options: FollowerOptions, signal: AbortSignal): Promise<BookEnd> {
  const held = { agent_id: book.agent_id, cursor: BOOK_START };
  let [failures, gaps] = [0, 0];
  while (!signal.aborted) {
    const shown = rememberSession(book);
    const passage = await retryRotated(shown, await connect(shown.book, held, options, signal));
    if (signal.aborted) break;
    if (passage.moved) gaps = 0;
    if (passage.kind === 'broken') {
      failures = passage.moved ? 1 : failures + 1;
      const again_in_ms = pauseMs(failures, passage.fault);
      const { fault } = passage;
      notify(() => options.on_trouble?.({ agent_id: book.agent_id, fault, again_in_ms }));
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

/** The same book, which remembers the session that it showed last. */
function rememberSession(book: FollowedBook) {
  const shown: { last: string | null } = { last: null };
  const session = async () => {
    shown.last = await currentSessionOf(book);
    return shown.last;
  };
  return { book: { ...book, session }, last: () => shown.last, rotates: typeof book.session !== 'string' };
}

/**
 * A rotated session ends. If `session` is a function it is called again, and the book ends only if it returns the
 * refused session.
 */
async function retryRotated(
  shown: ReturnType<typeof rememberSession>,
  passage: ConnectionOutcome,
): Promise<ConnectionOutcome> {
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
): Promise<ConnectionOutcome> {
  const { store, over = bookStream } = options;
  let moved = false;
  try {
    // Only the store shows whether the last commit succeeded.
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

/** Larger positions are not exact numbers, so gaps could not be found. @throws StreamBroken */
function requirePosition({ position }: Pick<BookCursor, 'position'>): void {
  if (!Number.isSafeInteger(position) || position < 0) throw new StreamBroken('a position is not a safe integer');
}

/** Doubles each time up to 30 seconds, with jitter, so that a restarted service is not called by all books at once. */
function pauseMs(failures: number, fault: unknown): number {
  const retry_ms = fault instanceof StreamBroken ? fault.retry_after_ms : 0;
  const doubled_ms = PAUSE_MS * 2 ** Math.min(failures - 1, 10);
  return Math.min(Math.max(doubled_ms, retry_ms), PAUSE_MS_MAX) * (0.5 + Math.random() / 2);
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
