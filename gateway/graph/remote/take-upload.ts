import type { IncomingMessage } from 'node:http';
import { limits } from '../../../schema/limits.ts';
import type { IncomingFile, Uploads } from '../../../subgraphs/uploads.ts';
import type { SubgraphCall } from './call.ts';
import type { CallGate, TurnedAway } from './call-gate.ts';

/** Takes files, each by a call that is signed for this and for nothing else. */
export interface UploadTaker {
  readonly gate: CallGate;
  readonly uploads: Uploads;
}

export type TakenUpload =
  /** The query that names the call's nonce finds it. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'too_large' }
  /** All files together hold as much as they may. */
  | { readonly kind: 'no_room' }
  | { readonly kind: 'turned_away'; readonly why: TurnedAway };

/** The call has been judged by its header; its file is read, within bounds, and found to be the one that was signed. */
export async function takeUpload(
  { gate, uploads }: UploadTaker,
  call: SubgraphCall,
  request: IncomingMessage,
): Promise<TakenUpload> {
  const file = uploads.begin(call.nonce);
  let delivered = false;
  try {
    const taken = await filled(file, request);
    if (taken.kind !== 'taken') return taken;
    const why = gate.takeHashed(call, file.whole().sha256);
    if (why !== null) return { kind: 'turned_away', why };
    await file.deliver();
    delivered = true;
    return taken;
  } finally {
    if (!delivered) file.release();
  }
}

async function filled(file: IncomingFile, request: IncomingMessage): Promise<TakenUpload> {
  for await (const piece of request as AsyncIterable<Buffer>) {
    if (file.length + piece.length > limits.upload_file_bytes_max) return { kind: 'too_large' };
    if (!file.take(piece)) return { kind: 'no_room' };
  }
  return { kind: 'taken' };
}
