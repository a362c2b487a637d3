import type { Duplex } from 'node:stream';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { limits } from '../../schema/limits.ts';
import type { SocketTally } from '../operations/metrics.ts';
import type { NextMessage } from './frame.ts';

/** Whether a socket may be written to now; see SessionSockets. */
export interface Gate {
  readonly held: boolean;
  /** Resolves when what is in hand may go out. @throws Refusal where it may not. */
  passed(): Promise<void>;
}

/** One operation's way out, for what is the same for all who follow it. */
export interface Delivery {
  readonly gate: Gate;
  /** False where it is closed, or closed now because whoever reads it is too slow: nobody waits for that. */
  send(message: NextMessage): boolean;
}

/**
 * That of an operation on a socket, straight into the connection: the frame is the same for all but for the operation's id, and
 * `ws` would frame it for each. Its own messages are written whole as well (nothing is compressed here), so that the two
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

/** It may read on what is on its way, and why no more comes; whoever does not is hung up on. */
function drop(socket: WebSocket, position: number): void {
  socket.close(TRY_AGAIN_LATER, `too slow: resume with after: ${position}`);
  const impatience = setTimeout(() => socket.terminate(), limits.socket_slow_ms_max);
  socket.once('close', () => clearTimeout(impatience));
}

/** `forbidden`: who opened it may read no more. `broken`: by a fault of ours. `halted`: the receipt log is. */
export type Shut = 'forbidden' | 'broken' | 'halted';

/** 1013 in the registry of RFC 6455, Try Again Later: clients come back by themselves. */
export const TRY_AGAIN_LATER = 1013;

const closes: { readonly [why in Shut]: readonly [code: number, reason: string] } = {
  forbidden: [CloseCode.Forbidden, 'Forbidden'],
  broken: [CloseCode.InternalServerError, 'Internal server error'],
  halted: [TRY_AGAIN_LATER, 'The receipt log is halted'],
};

export function closeSocket(socket: WebSocket, why: Shut): void {
  socket.close(...closes[why]);
}

/** What the answers of one caller go out on: a socket with all its operations. */
export interface Line {
  readonly open: boolean;
  shut(why: Shut): void;
  /** Once, when nothing goes out on it any more. */
  onceClosed(heard: () => void): void;
}

export function socketLine(socket: WebSocket): Line {
  return {
    get open() {
      return socket.readyState === socket.OPEN;
    },
    shut: why => closeSocket(socket, why),
    onceClosed: heard => void socket.once('close', heard),
  };
}
