import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { booksOf, type HeldBook, type Possession, type Principal } from '../../schema/principal.ts';
import { NextRuns } from '../../subgraphs/coalesce.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { SessionWatcher } from '../../subgraphs/live.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import type { Gate, Line } from './delivery.ts';
import type { KeptProof } from './keep-proof.ts';
import {
  bindToSessions,
  dropEndedSessions,
  hasSeveralSessions,
  type SessionLifetime,
  type SessionSocket,
} from './several-sessions.ts';

export interface SocketCallers {
  /** Identifies the caller: at connection_init, for each operation, and again after a session has ended. */
  identify(shown: ShownCredentials): Promise<Principal>;
  /** Book that a session opens now. Null if the session has ended. */
  bookOfSession(session: string): Promise<HeldBook | null>;
  /** What a proof that was valid at connection_init permits later. Null if it was used before. */
  keep(shown: ShownCredentials, possession: Possession): Promise<KeptProof | null>;
  /** Creates a new context for each operation of that caller. */
  createContext(principal: Principal): Context;
  /** Calls the watcher with every session that ends, in any process. */
  watchSessions(watcher: SessionWatcher): Promise<() => void>;
  /** Resolves when every session end that was committed before the call has been announced. */
  catchUp(): Promise<void>;
  /** Checks that the log is not halted. @throws RefusedWhileHalted 503 */
  requireNotHalted(): void;
  /** Resolves once the log is halted. From then on events may be lost, and the session of a socket may have ended unnoticed. */
  readonly halted: Promise<void>;
}

const AWAY_REST_MS = 1_000;
/** Limits concurrent look-ups, because thousands of sockets reconnect after a restart, and the database has other work. */
const LOOK_UPS_AT_ONCE_MAX = 16;

/**
 * Watches the open sockets of this process that have a session or proof. When a session ends, in any process, the sockets of its agent are
 * held back at once: nothing is sent on or read from a socket until it is closed (4403) or released. If a socket has several sessions, only
 * the operations that depend on the ended session end. All sockets are held back while session ends cannot be received, or the database is
 * unavailable.
 */
export class SessionSockets {
  readonly #callers: SocketCallers;
  readonly #logger: Logger;
  readonly #lookUps = new NextRuns<Principal>();
  readonly #bounded = pLimit(LOOK_UPS_AT_ONCE_MAX);
  readonly #open = new Map<Line, SessionSocket>();
  #watching: Promise<() => void> | null = null;
  /** Set while session ends cannot be received. */
  #deaf: PromiseWithResolvers<void> | null = null;
  #closed = false;

  constructor(callers: SocketCallers, logger: Logger) {
    this.#callers = callers;
    this.#logger = logger;
  }

  /** Identifies the caller of a socket. The watch begins before the look-up, so that a session that ends in between is noticed. */
  async identify(line: Line, shown: ShownCredentials): Promise<Principal> {
    if (shown.sessions.length === 0 && shown.proof === null) return this.#identify(shown);
    const looked = { agent_ids: null, held: null, again: false };
    const possessed: SessionSocket = { line, shown, ...looked, ended: new Set(), resting: new Map() };
    this.#open.set(line, possessed);
    line.onceClosed(() => this.#open.delete(line));
    this.#watching ??= this.#callers.watchSessions({
      onEnded: agent_id => this.#ended(agent_id),
      onLost: () => this.#lost(),
    });
    await this.#watching;
    if (this.#deaf) this.#hold(possessed);
    const principal = await this.#identify(shown);
    const books = booksOf(principal.possession);
    if (books.length > 0) possessed.agent_ids = new Set(books.map(({ agent_id }) => agent_id));
    if (shown.proof === null || (await this.#kept(possessed, principal))) return principal;
    return { ...principal, possession: { kind: 'wrong' } };
  }

  /** One look-up serves all requests with the same credentials that arrive before it begins. */
  #identify(shown: ShownCredentials): Promise<Principal> {
    const { sessions, of_several, agent, proof, rests_on, api_key, slice, ingest_key, board_secrets, address } = shown;
    // The key contains everything that the result depends on.
    const secrets = [api_key, slice, ingest_key, board_secrets];
    const key = JSON.stringify([sessions, of_several, agent, proof, rests_on, ...secrets, address]);
    return this.#lookUps.share(key, () => this.#bounded(() => this.#callers.identify(shown)));
  }

  /** Whether the proof opens the socket. The socket is closed when the proof expires. */
  async #kept(possessed: SessionSocket, { possession }: Principal): Promise<boolean> {
    const kept = await this.#callers.keep(possessed.shown, possession);
    if (kept === null) return false;
    possessed.shown = kept.shown;
    if (kept.ms_left === null) return true;
    const { line } = possessed;
    const over = setTimeout(() => line.shut('forbidden'), kept.ms_left);
    over.unref();
    line.onceClosed(() => clearTimeout(over));
    return true;
  }

  /**
   * Identifies the caller for one operation. @throws Refusal, and closes the socket, if its session has ended or its
   * proof has expired
   */
  async caller(line: Line, shown: ShownCredentials): Promise<Principal> {
    await this.awaitPass(line);
    const possessed = this.#open.get(line);
    const principal = possessed ? await this.#principal(possessed) : await this.#identify(shown);
    if (principal.possession.kind !== 'wrong') return principal;
    line.shut('forbidden');
    throw new Refusal('forbidden');
  }

  /**
   * Resolves when an event may be sent on the socket: every session end that was committed before the call has been announced, and this
   * socket's session has not ended. @throws Refusal if it has
   */
  async awaitPass(line: Line): Promise<void> {
    const possessed = this.#open.get(line);
    if (!possessed) return;
    await this.#callers.catchUp();
    while (possessed.held) await possessed.held;
    if (!line.open) throw new Refusal('forbidden');
  }

  /** Gate for the output of one operation of a caller: open while its socket is open and its sessions last. */
  gate(line: Line, { possession }: Principal): Gate & { readonly resting: SessionLifetime | null } {
    const possessed = this.#open.get(line);
    const hashes = booksOf(possession).map(({ session_hash }) => session_hash);
    const resting = possessed && hasSeveralSessions(possessed.shown) ? bindToSessions(possessed, hashes) : null;
    return {
      get held() {
        return possessed !== undefined && possessed.held !== null;
      },
      awaitPass: async () => {
        await this.awaitPass(line);
        if (resting?.ended.aborted) throw new Refusal('forbidden');
      },
      resting,
    };
  }

  /** Stops watching. It does not wait, because an unavailable database may be the reason for the stop. */
  close(): void {
    this.#closed = true;
    this.#deaf?.resolve();
    this.#watching?.then(
      stop => stop(),
      () => {},
    );
  }

  /** Holds back the sockets of an agent whose session has ended. `agent_id` is null if sessions of any agent may have ended unnoticed. */
  #ended(agent_id: number | null): void {
    if (agent_id === null) {
      this.#deaf?.resolve();
      this.#deaf = null;
    }
    for (const possessed of this.#open.values()) {
      if (agent_id === null || (possessed.agent_ids?.has(agent_id as AgentId) ?? true)) this.#hold(possessed);
    }
  }

  #lost(): void {
    this.#deaf ??= Promise.withResolvers();
    for (const possessed of this.#open.values()) this.#hold(possessed);
  }

  #hold(possessed: SessionSocket): void {
    possessed.again = true;
    possessed.held ??= this.#look(possessed).finally(() => {
      possessed.held = null;
    });
  }

  /** Checks a held socket. Never throws, and ends when it is known whether the session is still valid. */
  async #look(possessed: SessionSocket): Promise<void> {
    const { line } = possessed;
    while (possessed.again && line.open && !this.#closed) {
      await this.#deaf?.promise;
      possessed.again = false;
      try {
        await dropEndedSessions(possessed, session => this.#callers.bookOfSession(session));
        const { possession } = await this.#principal(possessed);
        if (possession.kind === 'wrong') line.shut('forbidden');
      } catch (error) {
        possessed.again = true;
        if (error instanceof DatabaseAway) await sleep(AWAY_REST_MS, null, { ref: false });
        else this.#giveUp(line, error);
      }
    }
  }

  /** Identifies the caller by the credentials that are still valid. */
  async #principal(possessed: SessionSocket): Promise<Principal> {
    let principal = await this.#identify(possessed.shown);
    while (
      principal.possession.kind === 'wrong' &&
      (await dropEndedSessions(possessed, session => this.#callers.bookOfSession(session)))
    )
      principal = await this.#identify(possessed.shown);
    return principal;
  }

  /** Closes a socket after an internal error. Unlike after an unavailable database, another look-up would not help. */
  #giveUp(line: Line, error: unknown): void {
    this.#logger.error(
      { err: error },
      'the credentials of an open WebSocket could not be checked again because of the error in err; it was closed',
    );
    line.shut('broken');
  }
}
