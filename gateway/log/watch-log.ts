import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { KnownBooks } from '../../subgraphs/book/heads/known-books.ts';
import { iso, systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { LiveLog } from '../../subgraphs/live.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import {
  announceHalt,
  HALT_NOTICE,
  type LogHalt,
  LogHalted,
  type Mismatch,
  mismatchSentence,
} from '../../subgraphs/receipt/log/halt.ts';
import { linkFromText } from '../../subgraphs/receipt/log/head.ts';
import { UnreadableHead } from '../../subgraphs/receipt/log/head-slots.ts';
import { type KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { lookAtLog } from '../../subgraphs/receipt/log/prove-intact.ts';
import type { SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { signedHead } from '../../subgraphs/receipt/log/signed-heads.ts';
import { type HeadName } from '../../subgraphs/receipt/log/tree-head.ts';
import { WAY_ON } from './audit-log.ts';

const BEAT_MS = 2_000;
/** Pause between two looks. Under load, notices that do not fit come in bursts, and one look checks them all. */
const REST_MS = 100;

export interface LogWatchParts {
  readonly database: Database;
  readonly known: KnownLog;
  readonly books: Pick<KnownBooks, 'look'>;
  readonly saved_head: SavedHead;
  /** Number of the newest break that was declared before this process started. */
  readonly breaks_before: number;
  readonly logger: Logger;
  /** Pause between two looks if no notice comes. */
  readonly beat_ms?: number;
}

type SigningKey = Pick<Issuer, 'kid' | 'renew' | 'standing' | 'signs_until_ms'>;

/**
 * Follows every head that any process commits. It checks the log at each beat, after each reconnect, and after a notice that does not fit.
 * If the log does not extend the known heads, it writes a halt to the database at each beat, because that database may go back again. Only
 * a new start ends a halt.
 */
export class LogWatch {
  readonly #parts: LogWatchParts;
  #issuer: SigningKey | null = null;
  #key_ended = false;
  #key_ending = false;
  readonly #stopping = new AbortController();
  readonly #beats: Promise<void>;
  #woken = Promise.withResolvers<void>();
  readonly #halted = Promise.withResolvers<void>();
  #halt: LogHalt | null = null;
  #accepted = false;
  #seen = true;
  #unlisten = () => {};

  constructor(parts: LogWatchParts) {
    this.#parts = parts;
    parts.known.onUncertain = () => this.#woken.resolve();
    parts.known.onHalt = mismatch => this.#close(mismatch);
    this.#beats = this.#beat();
  }

  /** Reason why this process appends nothing. Null while it may append. */
  get halt(): LogHalt | null {
    return this.#halt;
  }

  /** Resolves once the log is halted. */
  get halted(): Promise<void> {
    return this.#halted.promise;
  }

  /**
   * False in two cases: if this process can record nothing (see `signs`), and while the saved head cannot be read, because the head of a
   * new record could then not be saved either.
   */
  get sound(): boolean {
    return this.signs && this.#seen;
  }

  /** False when this process can record nothing, because the log is halted or its key has ended. */
  get signs(): boolean {
    return this.#halt === null && (this.#issuer?.standing ?? 'in_force') === 'in_force';
  }

  /** Sets the key whose state is checked at each beat. */
  signsBy(issuer: SigningKey): void {
    this.#issuer = issuer;
  }

  /** Begins to follow the log. Resolves when all earlier heads have been checked and all later ones will be noticed. */
  async listen(live: LiveLog): Promise<void> {
    this.#unlisten = await live.watchLog(notice => this.#onNotice(notice));
    await this.look();
  }

  async stop(): Promise<void> {
    this.#unlisten();
    this.#stopping.abort();
    await this.#beats;
  }

  #onNotice(notice: string | null): void {
    const link = notice === null || notice === HALT_NOTICE ? null : linkFromText(notice);
    if (link) this.#parts.known.learnLink(link);
    else this.#woken.resolve();
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopping;
    const { beat_ms = BEAT_MS } = this.#parts;
    while (!signal.aborted) {
      await Promise.race([this.#woken.promise, pause(beat_ms, signal)]);
      this.#woken = Promise.withResolvers();
      if (signal.aborted) return;
      await this.#lookAtKey();
      await this.look().catch(error =>
        this.#parts.logger.warn(
          { err: error },
          'the log could not be compared with the tree heads that this process knows, because of the error in err (database or DATA_DIR); it is tried again every 2 seconds',
        ),
      );
      await pause(REST_MS, signal);
    }
  }

  /**
   * Compares the log with all known heads. Resolves when they have been proven, or the log is halted. @throws if the database is
   * unreachable or the saved head cannot be read; the next look follows soon
   */
  async look(): Promise<void> {
    const { books, database, known } = this.#parts;
    try {
      await lookAtLog(database, known);
      await books.look(database);
      await this.#keepNewest();
      this.#seen = true;
    } catch (fault) {
      if (fault instanceof UnreadableHead) this.#seen = false;
      if (!(fault instanceof LogHalted)) throw fault;
      await this.#announce();
    }
  }

  /**
   * Adds a head from outside that the log must extend, and compares the log with it, which halts the log if it does not. @throws the errors
   * of `look`; the head stays known, so that the next look compares it again
   */
  async meet(head: HeadName): Promise<void> {
    this.#parts.known.learn(head);
    await this.look();
  }

  /** Checks the signing key. A key that was revoked or replaced long ago signs nothing, and only a start with another key changes that. */
  async #lookAtKey(): Promise<void> {
    await this.#issuer?.renew();
    const { kid, standing = 'in_force', signs_until_ms = null } = this.#issuer ?? {};
    if (signs_until_ms !== null && standing === 'in_force' && !this.#key_ending) {
      this.#key_ending = true;
      this.#parts.logger.warn(
        `the signing key ${kid} was replaced; this process accepts payments until ${iso(signs_until_ms)}. Restart it before ` +
          'then with the seed of the current key first in ISSUER_KEYS, or with a new seed if that one is lost',
      );
    }
    if (standing === 'in_force' || this.#key_ended) return;
    this.#key_ended = true;
    this.#parts.logger.fatal(
      `the signing key ${kid} was ${standing}; no more payments are accepted. Restart this process with the ` +
        'seed of the current key first in ISSUER_KEYS',
    );
  }

  /** Saves the newest head outside the database, including those of other processes, because an outdated file would detect less. */
  async #keepNewest(): Promise<void> {
    const { database, known, saved_head } = this.#parts;
    const { newest } = known;
    // Saving is tried again after a failure, so that payments are accepted once it works.
    if (newest === null || (newest.tree_size <= saved_head.tree_size && !saved_head.fails)) return;
    const head = await signedHead(database, newest.tree_size);
    if (head?.root_hash === newest.root_hash) await saved_head.save(head);
  }

  #close(mismatch: Mismatch): void {
    const by = `${hostname()}/${process.pid}`;
    this.#halt = { ...mismatch, at: iso(systemClock.now_ms()), by };
    const sentence = mismatchSentence(this.#halt);
    this.#parts.logger.fatal(mismatch, `${sentence}. No more payments are accepted. ${WAY_ON}`);
    this.#halted.resolve();
    this.#woken.resolve();
  }

  async #announce(): Promise<void> {
    if (this.#halt === null) return;
    const { accepted } = await announceHalt(this.#parts.database, this.#halt, this.#parts.breaks_before);
    if (accepted && !this.#accepted)
      this.#parts.logger.fatal(
        'the break of the log was declared with accept-log-break; restart this process to accept payments again',
      );
    this.#accepted = accepted;
  }
}

async function pause(pause_ms: number, signal: AbortSignal): Promise<void> {
  await sleep(pause_ms, null, { signal, ref: false }).catch(() => {});
}
