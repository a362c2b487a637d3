import type { Duplex } from 'node:stream';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { limits } from '../../schema/limits.ts';
import type { SocketTally } from '../operations/metrics.ts';
import type { NextMessage } from './frame.ts';

/** Decides whether a socket may be written to now; see SessionSockets. */
export interface Gate {
  readonly held: boolean;
  /** Resolves when the current event may be sent. @throws Refusal if it may not */
  awaitPass(): Promise<void>;
}

/** The output of one operation, for events that are the same for all members of a group. */
export interface Delivery {
  readonly gate: Gate;
  /** Sends an event. False if the output is closed, or is closed now because its reader is too slow. */
  send(message: NextMessage): boolean;
}

/**
 * The output of an operation on a socket. It writes frames directly into the connection: they differ only by the operation's id, and `ws`
 * would build a frame for each socket. Messages of `ws` are written as a whole too, because nothing is compressed here, so that the two
 * cannot mix.
 */
export class SocketDelivery implements Delivery {
  readonly gate: Gate;
  readonly #socket: WebSocket;
  readonly #connection: Duplex;
  readonly #id: string;
  readonly #tally: SocketTally;

  constructor(socket: WebSocket, connection: Duplex, id: string, gate: Gate, tally: SocketTally) {
    this.gate = gate;
    this.#socket = socket;
    this.#connection = connection;
    this.#id = id;
    this.#tally = tally;
  }

  send(message: NextMessage): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    if (this.#connection.writableLength > limits.socket_buffered_bytes_max) {
      this.#tally.dropped.slow++;
      drop(this.#socket, message.position - 1);
      return false;
    }
    this.#connection.write(message.frame(this.#id));
    this.#tally.deliveries++;
    return true;
  }
}

/** Closes a socket. The reader can still read what was sent and the reason for the end. If it does not, the connection is closed. */
function drop(socket: WebSocket, position: number): void {
  socket.close(TRY_AGAIN_LATER, `too slow: resume with after: ${position}`);
  const impatience = setTimeout(() => socket.terminate(), limits.socket_slow_ms_max);
  socket.once('close', () => clearTimeout(impatience));
}

/**
 * Why a socket is closed. `forbidden`: the caller may not read any longer. `broken`: an internal error. `halted`: the receipt log is
 * halted.
 */
export type CloseCause = 'forbidden' | 'broken' | 'halted';

/** 1013, Try Again Later, in the registry of RFC 6455. Clients reconnect by themselves after it. */
export const TRY_AGAIN_LATER = 1013;

const closes: { readonly [why in CloseCause]: readonly [code: number, reason: string] } = {
  forbidden: [CloseCode.Forbidden, 'Forbidden'],
  broken: [CloseCode.InternalServerError, 'Internal server error'],
  halted: [TRY_AGAIN_LATER, 'The receipt log is halted'],
};

export function closeSocket(socket: WebSocket, why: CloseCause): void {
  socket.close(...closes[why]);
}

/** The connection of one caller: a socket with all its operations. */
export interface Line {
  readonly open: boolean;
  shut(why: CloseCause): void;
  /** Adds a listener that is called once, when nothing can be sent on the connection any longer. */
  onceClosed(listener: () => void): void;
}

export function socketLine(socket: WebSocket): Line {
  return {
    get open() {
      return socket.readyState === socket.OPEN;
    },
    shut: why => closeSocket(socket, why),
    onceClosed: listener => void socket.once('close', listener),
  };
}
