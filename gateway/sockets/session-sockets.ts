import { setTimeout as sleep } from 'node:timers/promises';
import { CloseCode } from 'graphql-ws';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { Possession, Principal } from '../../schema/principal.ts';
import { NextRuns } from '../../subgraphs/coalesce.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { SessionWatcher } from '../../subgraphs/live.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import type { Gate } from './delivery.ts';
import type { KeptProof } from './keep-proof.ts';

export interface SocketCallers {
  /** Who opened the socket: asked at connection_init, for each operation, and again where a session has ended. */
  identify(shown: ShownCredentials): Promise<Principal>;
  /** What a proof, found right at connection_init, opens the socket for; null where it was used before. */
  keep(shown: ShownCredentials, possession: Possession): Promise<KeptProof | null>;
  /** A fresh context for each operation of that caller. */
  createContext(principal: Principal): Context;
  /** Tells of every session that ends, in any process. */
  watchSessions(watcher: SessionWatcher): Promise<() => void>;
  /** Resolves when every end of a session has been told of that was committed before the call. */
  heard(): Promise<void>;
}

interface SessionSocket {
  readonly socket: WebSocket;
  /** At connection_init. Kept, because whoever was let in may be locked out while the socket is open. */
  shown: ShownCredentials;
  /** Null until the session has been looked up: until then it may be anybody's. */
  agent_id: AgentId | null;
  /** While it is held back: resolves when the socket has been looked at, and is closed or free again. */
  held: Promise<void> | null;
  /** What was looked up may be out of date: once more. */
  again: boolean;
}

const AWAY_REST_MS = 1_000;
/** Sockets ask who is calling by the thousand, as after a restart; the database has others to answer. */
const LOOK_UPS_AT_ONCE_MAX = 16;

/**
 * The open sockets of this process that showed a session, or a proof made with one. Where one ends, in whatever process,
 * the sockets of its agent are held back at once: nothing goes out on them and nothing is taken from them until each was
 * looked at, and is closed (4403) or let go on. So are all of them from the moment on from which no end of a session would
 * be heard of. While the database is away nobody knows, and they wait.
 */
export class SessionSockets {
  readonly #callers: SocketCallers;
  readonly #logger: Logger;
  readonly #lookUps = new NextRuns<Principal>();
  readonly #bounded = pLimit(LOOK_UPS_AT_ONCE_MAX);
  readonly #open = new Map<WebSocket, SessionSocket>();
  #watching: Promise<() => void> | null = null;
  /** While no end of a session would be heard of. */
  #deaf: PromiseWithResolvers<void> | null = null;
  #closed = false;

  constructor(callers: SocketCallers, logger: Logger) {
    this.#callers = callers;
    this.#logger = logger;
  }

  /** Who opened the socket. Its watch comes before the look: a session that ends between the two is heard of. */
  async identify(socket: WebSocket, shown: ShownCredentials): Promise<Principal> {
    if (shown.session === null && shown.proof === null) return this.#identify(shown);
    const possessed: SessionSocket = { socket, shown, agent_id: null, held: null, again: false };
    this.#open.set(socket, possessed);
    socket.once('close', () => this.#open.delete(socket));
    this.#watching ??= this.#callers.watchSessions({
      ended: agent_id => this.#ended(agent_id),
      lost: () => this.#lost(),
    });
    await this.#watching;
    if (this.#deaf) this.#hold(possessed);
    const principal = await this.#identify(shown);
    if (principal.possession.kind === 'proven') possessed.agent_id = principal.possession.agent_id;
    if (shown.proof === null || (await this.#kept(possessed, principal))) return principal;
    return { ...principal, possession: { kind: 'wrong' } };
  }

  /** One look-up serves all who show the same and ask before it begins. */
  #identify(shown: ShownCredentials): Promise<Principal> {
    const { session, proof, rests_on, api_key, address } = shown;
    // All that the answer depends on.
    const key = JSON.stringify([session, proof, rests_on, api_key, address]);
    return this.#lookUps.share(key, () => this.#bounded(() => this.#callers.identify(shown)));
  }

  /** Whether its proof opens the socket, which is closed once that is over. */
  async #kept(possessed: SessionSocket, { possession }: Principal): Promise<boolean> {
    const kept = await this.#callers.keep(possessed.shown, possession);
    if (kept === null) return false;
    possessed.shown = kept.shown;
    if (kept.ms_left === null) return true;
    const { socket } = possessed;
    const over = setTimeout(() => socket.close(CloseCode.Forbidden, 'Forbidden'), kept.ms_left);
    over.unref();
    socket.once('close', () => clearTimeout(over));
    return true;
  }

  /**
   * Who is calling now, for one operation. @throws Refusal, and closes the socket, where its session has ended or its
   * proof is over.
   */
  async caller(socket: WebSocket, shown: ShownCredentials): Promise<Principal> {
    await this.passed(socket);
    const principal = await this.#identify(this.#open.get(socket)?.shown ?? shown);
    if (principal.possession.kind !== 'wrong') return principal;
    socket.close(CloseCode.Forbidden, 'Forbidden');
    throw new Refusal('forbidden');
  }

  /**
   * Resolves when what the caller has in hand may go out on the socket: every end of a session has been heard of that
   * was committed before the call, and this socket's has not ended. @throws Refusal where it has.
   */
  async passed(socket: WebSocket): Promise<void> {
    const possessed = this.#open.get(socket);
    if (!possessed) return;
    await this.#callers.heard();
    while (possessed.held) await possessed.held;
    if (socket.readyState !== socket.OPEN) throw new Refusal('forbidden');
  }

  /** The way to a socket, for as long as it is open. */
  gate(socket: WebSocket): Gate {
    const possessed = this.#open.get(socket);
    return {
      get held() {
        return possessed !== undefined && possessed.held !== null;
      },
      passed: () => this.passed(socket),
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
      if (agent_id === null || possessed.agent_id === null || possessed.agent_id === agent_id) this.#hold(possessed);
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
    const { socket } = possessed;
    while (possessed.again && socket.readyState === socket.OPEN && !this.#closed) {
      await this.#deaf?.promise;
      possessed.again = false;
      try {
        const { possession } = await this.#identify(possessed.shown);
        if (possession.kind === 'wrong') socket.close(CloseCode.Forbidden, 'Forbidden');
      } catch (error) {
        possessed.again = true;
        if (error instanceof DatabaseAway) await sleep(AWAY_REST_MS, null, { ref: false });
        else this.#giveUp(socket, error);
      }
    }
  }

  /** Not the database's being away: a fault of ours, which looking again would not cure. */
  #giveUp(socket: WebSocket, error: unknown): void {
    this.#logger.error({ err: error }, 'a socket could not be looked at again');
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  }
}
