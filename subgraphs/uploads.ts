import { createHash, type Hash } from 'node:crypto';
import { limits } from '../schema/limits.ts';

/*
 * Keeps uploaded files until the work that uses them is done. A document never contains their bytes: it names a file by an id that can be
 * used once.
 */

/** A complete file. */
export interface UploadedFile {
  readonly bytes: Buffer;
  readonly sha256: string;
}

/** An upload that a document uses; released when its work is done. */
export interface OpenedUpload extends UploadedFile {
  release(): void;
}

/** Owner of a file: the payer, if a payment names one, and the address of the request. */
export interface Sender {
  readonly payer: string | null;
  readonly address: string;
}

/** Limits the bytes of all files of this process together, and the bytes of the files of one payer and of one address. */
class UploadRoom {
  readonly #bounds: RoomBounds;
  #taken_bytes = 0;
  /** Bytes by payer and by address. Payers and addresses without bytes are left out. */
  readonly #shares = new Map<string, number>();

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds;
  }

  take(bytes: number, sender: Sender | null): boolean {
    const { bytes_max, payer_bytes_max, address_bytes_max } = this.#bounds;
    if (this.#taken_bytes + bytes > bytes_max) return false;
    const shares = sharesOf(sender);
    const share_max = { payer: payer_bytes_max, address: address_bytes_max };
    if (shares.some(({ kind, name }) => (this.#shares.get(name) ?? 0) + bytes > share_max[kind])) return false;
    this.#add(bytes, shares);
    return true;
  }

  give(bytes: number, sender: Sender | null): void {
    this.#add(-bytes, sharesOf(sender));
  }

  #add(bytes: number, shares: readonly Share[]): void {
    this.#taken_bytes += bytes;
    for (const { name } of shares) {
      const held = (this.#shares.get(name) ?? 0) + bytes;
      if (held > 0) this.#shares.set(name, held);
      else this.#shares.delete(name);
    }
  }
}

interface Share {
  readonly kind: 'payer' | 'address';
  readonly name: string;
}

function sharesOf(sender: Sender | null): readonly Share[] {
  if (sender === null) return [];
  const { payer, address } = sender;
  const by_address: Share = { kind: 'address', name: `address ${address}` };
  return payer === null ? [by_address] : [by_address, { kind: 'payer', name: `payer ${payer}` }];
}

/** Size limits of a block. Within them, each block is as large as the file so far, so that a sender of one byte takes little memory. */
const BLOCK_BYTES_MIN = 1024;
const BLOCK_BYTES_MAX = 64 * 1024;

/**
 * A file while it is received. It is copied into blocks, because a sender may send it in pieces of one byte, each of which would be an
 * object.
 */
export class IncomingFile {
  readonly #room: UploadRoom;
  readonly #sender: Sender | null;
  #hash: Hash | null = null;
  #blocks: Buffer[] = [];
  #held_bytes = 0;
  #length = 0;
  /** Free part of the last block. */
  #free: Buffer = Buffer.alloc(0);
  #whole: UploadedFile | null = null;
  #released = false;

  constructor(room: UploadRoom, sender: Sender | null) {
    this.#room = room;
    this.#sender = sender;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Adds a piece. Returns false if there is no room, for all files together or for this sender. The bytes of this file are then released at
   * once, so that no more concurrent files are refused than necessary.
   */
  take(piece: Uint8Array): boolean {
    // Bytes that arrive after the release would never be released.
    if (this.#released) return false;
    for (let from = 0; from < piece.length; ) {
      if (this.#free.length === 0 && !this.#grow()) {
        this.release();
        return false;
      }
      const part = piece.subarray(from, from + this.#free.length);
      this.#free.set(part);
      this.#free = this.#free.subarray(part.length);
      from += part.length;
      this.#length += part.length;
    }
    this.#hash ??= createHash('sha256');
    this.#hash.update(piece);
    return true;
  }

  /** Returns the complete file. `take` must not be called afterwards. */
  complete(): UploadedFile {
    const hash = this.#hash ?? createHash('sha256');
    this.#whole ??= { bytes: Buffer.concat(this.#blocks, this.#length), sha256: hash.digest('hex') };
    this.#blocks = [];
    return this.#whole;
  }

  /** Releases the bytes of the file. A second call has no effect. */
  release(): void {
    this.#released = true;
    this.#room.give(this.#held_bytes, this.#sender);
    this.#held_bytes = 0;
    this.#blocks = [];
    this.#free = Buffer.alloc(0);
    this.#whole = null;
  }

  #grow(): boolean {
    const bytes = Math.min(Math.max(this.#length, BLOCK_BYTES_MIN), BLOCK_BYTES_MAX);
    if (!this.#room.take(bytes, this.#sender)) return false;
    this.#held_bytes += bytes;
    this.#free = Buffer.allocUnsafeSlow(bytes);
    this.#blocks.push(this.#free);
    return true;
  }
}

interface RoomBounds {
  readonly bytes_max: number;
  readonly payer_bytes_max: number;
  readonly address_bytes_max: number;
}

interface UploadBounds extends RoomBounds {
  /** Milliseconds after which a file that no document uses is dropped. */
  readonly unasked_ms_max: number;
}

const usual: UploadBounds = {
  bytes_max: limits.uploads_bytes_max,
  payer_bytes_max: limits.uploads_payer_bytes_max,
  address_bytes_max: limits.uploads_address_bytes_max,
  unasked_ms_max: limits.upload_unasked_ms_max,
};

/** The files of one process. */
export class Uploads {
  readonly room: UploadRoom;
  readonly #unasked_ms_max: number;
  readonly #delivered = new Map<string, Upload>();

  constructor(bounds: Partial<UploadBounds> = {}) {
    const { unasked_ms_max, ...room } = { ...usual, ...bounds };
    this.room = new UploadRoom(room);
    this.#unasked_ms_max = unasked_ms_max;
  }

  /** Begins an upload. `id` must be unguessable and unique. Without a sender, only the total is limited. */
  begin(id: string, sender: Sender | null = null): Upload {
    return new Upload(id, this.room, sender, { delivered: this.#delivered, unasked_ms_max: this.#unasked_ms_max });
  }

  /** Returns the file with this id, once only. Null if there is no such file, or if it was used already. */
  open(id: string): OpenedUpload | null {
    const upload = this.#delivered.get(id);
    return upload?.handOver() ?? null;
  }
}

interface DeliveredUploads {
  readonly delivered: Map<string, Upload>;
  readonly unasked_ms_max: number;
}

/** An upload that a document in this process can use by its id. */
class Upload extends IncomingFile {
  readonly id: string;
  readonly #shelf: DeliveredUploads;
  #unasked: NodeJS.Timeout | undefined;

  constructor(id: string, room: UploadRoom, sender: Sender | null, shelf: DeliveredUploads) {
    super(room, sender);
    this.id = id;
    this.#shelf = shelf;
  }

  async deliver(): Promise<void> {
    if (this.length === 0) return;
    this.#shelf.delivered.set(this.id, this);
    this.#unasked = setTimeout(() => this.release(), this.#shelf.unasked_ms_max).unref();
  }

  handOver(): OpenedUpload {
    this.#taken();
    return { ...this.complete(), release: () => this.release() };
  }

  override release(): void {
    this.#taken();
    super.release();
  }

  #taken(): void {
    clearTimeout(this.#unasked);
    const { delivered } = this.#shelf;
    // A refused upload with the same id must not remove the entry of the other one.
    if (delivered.get(this.id) === this) delivered.delete(this.id);
  }
}
