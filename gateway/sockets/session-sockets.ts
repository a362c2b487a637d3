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
import { isOfSeveral, letGo, type Resting, rest, type SessionSocket } from './several-sessions.ts';

export interface SocketCallers {
  /** Who opened the socket: asked at connection_init, for each operation, and again where a session has ended. */
  identify(shown: ShownCredentials): Promise<Principal>;
  /** Whose book one session opens now. */
  held(session: string): Promise<HeldBook | null>;
  /** What a proof, found right at connection_init, opens the socket for; null where it was used before. */
  keep(shown: ShownCredentials, possession: Possession): Promise<KeptProof | null>;
  /** A fresh context for each operation of that caller. */
  createContext(principal: Principal): Context;
  /** Tells of every session that ends, in any process. */
  watchSessions(watcher: SessionWatcher): Promise<() => void>;
  /** Resolves when every end of a session has been told of that was committed before the call. */
  heard(): Promise<void>;
  /** @throws RefusedWhileHalted 503 */
  requireNotHalted(): void;
  /** Resolves once the log is halted: what is followed may have lost events, and a session may have ended that opens it. */
  readonly halted: Promise<void>;
}

const AWAY_REST_MS = 1_000;
/** Sockets ask who is calling by the thousand, as after a restart; the database has others to answer. */
const LOOK_UPS_AT_ONCE_MAX = 16;

/**
 * The open sockets of this process that showed a session, or a proof made with one. Where one ends, in whatever process,
 * the sockets of its agent are held back at once: nothing goes out on them and nothing is taken from them until each was
 * looked at, and is closed (4403) or let go on; of one that showed several, what rests on the ended one ends, and the rest
 * goes on. So are all of them from the moment on from which no end of a session would
 * be heard of. While the database is away nobody knows, and they wait.
 */
export class SessionSockets {
  readonly #callers: SocketCallers;
  readonly #logger: Logger;
  readonly #lookUps = new NextRuns<Principal>();
  readonly #bounded = pLimit(LOOK_UPS_AT_ONCE_MAX);
  readonly #open = new Map<Line, SessionSocket>();
  #watching: Promise<() => void> | null = null;
  /** While no end of a session would be heard of. */
  #deaf: PromiseWithResolvers<void> | null = null;
  #closed = false;

  constructor(callers: SocketCallers, logger: Logger) {
    this.#callers = callers;
    this.#logger = logger;
  }

  /** Who opened the socket. Its watch comes before the look: a session that ends between the two is heard of. */
  async identify(line: Line, shown: ShownCredentials): Promise<Principal> {
    if (shown.sessions.length === 0 && shown.proof === null) return this.#identify(shown);
    const looked = { agent_ids: null, held: null, again: false };
    const possessed: SessionSocket = { line, shown, ...looked, ended: new Set(), resting: new Map() };
    this.#open.set(line, possessed);
    line.onceClosed(() => this.#open.delete(line));
    this.#watching ??= this.#callers.watchSessions({
      ended: agent_id => this.#ended(agent_id),
      lost: () => this.#lost(),
    });
    await this.#watching;
    if (this.#deaf) this.#hold(possessed);
    const principal = await this.#identify(shown);
    const books = booksOf(principal.possession);
    if (books.length > 0) possessed.agent_ids = new Set(books.map(({ agent_id }) => agent_id));
    if (shown.proof === null || (await this.#kept(possessed, principal))) return principal;
    return { ...principal, possession: { kind: 'wrong' } };
  }

  /** One look-up serves all who show the same and ask before it begins. */
  #identify(shown: ShownCredentials): Promise<Principal> {
    const { sessions, of_several, agent, proof, rests_on, api_key, slice, ingest_key, board_secrets, address } = shown;
    // All that the answer depends on.
    const secrets = [api_key, slice, ingest_key, board_secrets];
    const key = JSON.stringify([sessions, of_several, agent, proof, rests_on, ...secrets, address]);
    return this.#lookUps.share(key, () => this.#bounded(() => this.#callers.identify(shown)));
  }

  /** Whether its proof opens the socket, which is closed once that is over. */
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
   * Who is calling now, for one operation. @throws Refusal, and closes the socket, where its session has ended or its
   * proof is over.
   */
  async caller(line: Line, shown: ShownCredentials): Promise<Principal> {
    await this.passed(line);
    const possessed = this.#open.get(line);
    const principal = possessed ? await this.#principal(possessed) : await this.#identify(shown);
    if (principal.possession.kind !== 'wrong') return principal;
    line.shut('forbidden');
    throw new Refusal('forbidden');
  }

  /**
   * Resolves when what the caller has in hand may go out on the socket: every end of a session has been heard of that
   * was committed before the call, and this socket's has not ended. @throws Refusal where it has.
   */
  async passed(line: Line): Promise<void> {
    const possessed = this.#open.get(line);
    if (!possessed) return;
    await this.#callers.heard();
    while (possessed.held) await possessed.held;
    if (!line.open) throw new Refusal('forbidden');
  }

  /** The way out for one operation of a caller, for as long as its socket is open and all that it rests on lasts. */
  gate(line: Line, { possession }: Principal): Gate & { readonly resting: Resting | null } {
    const possessed = this.#open.get(line);
    const hashes = booksOf(possession).map(({ session_hash }) => session_hash);
    const resting = possessed && isOfSeveral(possessed.shown) ? rest(possessed, hashes) : null;
    return {
      get held() {
        return possessed !== undefined && possessed.held !== null;
      },
      passed: async () => {
        await this.passed(line);
        if (resting?.ended.aborted) throw new Refusal('forbidden');
      },
      resting,
    };
  }

  /** Waits for nothing: the database may be what keeps it from listening. */
  close(): void {
    this.#closed = true;
    this.#deaf?.resolve();
    this.#watching?.then(
      stop => stop(),
      () => {},
    );
  }

  /** Null: some session may have ended that we did not hear of. */
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

  /** Never throws, and comes to its end when it is known whether the session lives. */
  async #look(possessed: SessionSocket): Promise<void> {
    const { line } = possessed;
    while (possessed.again && line.open && !this.#closed) {
      await this.#deaf?.promise;
      possessed.again = false;
      try {
        await letGo(possessed, session => this.#callers.held(session));
        const { possession } = await this.#principal(possessed);
        if (possession.kind === 'wrong') line.shut('forbidden');
      } catch (error) {
        possessed.again = true;
        if (error instanceof DatabaseAway) await sleep(AWAY_REST_MS, null, { ref: false });
        else this.#giveUp(line, error);
      }
    }
  }

  /** Who is calling by what is left of what they showed. */
  async #principal(possessed: SessionSocket): Promise<Principal> {
    let principal = await this.#identify(possessed.shown);
    while (principal.possession.kind === 'wrong' && (await letGo(possessed, session => this.#callers.held(session))))
      principal = await this.#identify(possessed.shown);
    return principal;
  }

  /** Not the database's being away: a fault of ours, which looking again would not cure. */
  #giveUp(line: Line, error: unknown): void {
    this.#logger.error({ err: error }, 'a socket could not be looked at again');
    line.shut('broken');
  }
}
