import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';

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
