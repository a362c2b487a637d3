import { IncomingFile, type Sender, type UploadedFile, type Uploads } from '../../../subgraphs/uploads.ts';

/** A file that is worked for in another process: it goes there in a message of its own, before the query that names it. */
export class RemoteUpload extends IncomingFile {
  readonly id: string;
  readonly #send: (file: UploadedFile) => Promise<void>;

  constructor(id: string, { room }: Uploads, sender: Sender, send: (file: UploadedFile) => Promise<void>) {
    super(room, sender);
    this.id = id;
    this.#send = send;
  }

  async deliver(): Promise<void> {
    if (this.length === 0) return;
    await this.#send(this.whole());
    // It is there, and needed here no more.
    this.release();
  }
}
