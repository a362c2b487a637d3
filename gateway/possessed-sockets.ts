import { CloseCode } from 'graphql-ws';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { AgentId } from '../schema/ids.ts';
import type { Principal } from '../schema/principal.ts';
import type { SocketCallers } from './subscriptions.ts';

/** What a caller showed at connection_init. Kept, because whoever was let in may be locked out while the socket is open. */
export type Shown = Parameters<SocketCallers['identify']>[0];

interface Possessed {
  readonly shown: Shown;
  /** Null until the session has been looked up: until then it may be anybody's. */
  agent_id: AgentId | null;
}

const LOOKED_AT_ONCE_MAX = 32;

/**
 * The open sockets of this process that showed a session. Where one ends, in whatever process, the sockets of its agent
 * are looked at again, and those that hold nothing any more are closed (4403): at once, not with the book's next event.
 */
export class PossessedSockets {
  readonly #callers: SocketCallers;
  readonly #logger: Logger;
  readonly #open = new Map<WebSocket, Possessed>();
  #watching: Promise<() => void> | null = null;

  constructor(callers: SocketCallers, logger: Logger) {
    this.#callers = callers;
    this.#logger = logger;
  }

  /** Who opened the socket. Its watch comes before the look: a session that ends between the two is heard of. */
  async identify(socket: WebSocket, shown: Shown): Promise<Principal> {
    if (shown.session === null) return this.#callers.identify(shown);
    const possessed: Possessed = { shown, agent_id: null };
    this.#open.set(socket, possessed);
    socket.once('close', () => this.#open.delete(socket));
    this.#watching ??= this.#callers.watchSessions(agent_id => void this.#lookAgain(agent_id));
    await this.#watching;
    const principal = await this.#callers.identify(shown);
    if (principal.possession.kind === 'proven') possessed.agent_id = principal.possession.agent_id;
    return principal;
  }

  /** Waits for nothing: the database may be what keeps it from listening. */
  close(): void {
    this.#watching?.then(
      stop => stop(),
      () => {},
    );
  }

  /** Null: some session may have ended that we did not hear of. */
  async #lookAgain(agent_id: number | null): Promise<void> {
    const concerned = [...this.#open].filter(
      ([, possessed]) => agent_id === null || possessed.agent_id === null || possessed.agent_id === agent_id,
    );
    for (let at = 0; at < concerned.length; at += LOOKED_AT_ONCE_MAX) {
      await Promise.all(
        concerned.slice(at, at + LOOKED_AT_ONCE_MAX).map(([socket, { shown }]) => this.#look(socket, shown)),
      );
    }
  }

  /** Never throws. A socket whose session cannot be looked up is closed as well: its owner may come back. */
  async #look(socket: WebSocket, shown: Shown): Promise<void> {
    try {
      const { possession } = await this.#callers.identify(shown);
      if (possession.kind === 'wrong') socket.close(CloseCode.Forbidden, 'Forbidden');
    } catch (error) {
      this.#logger.error({ err: error }, 'a socket could not be looked at again');
      socket.close(CloseCode.InternalServerError, 'Internal server error');
    }
  }
}
