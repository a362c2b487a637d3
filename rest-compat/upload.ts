/** Sender of a file: the payer, if the payment states one, and the address. */
export interface UploadSender {
  readonly payer: string | null;
  readonly address: string;
}

/** A file that is uploaded for the document of its request. */
export interface Upload {
  /** Id by which the document refers to the file. */
  readonly id: string;
  /** Adds a piece. False if all files together have reached the limit. */
  take(piece: Uint8Array): boolean;
  /** Makes the complete file, if there is one, available to the document. @throws Refusal unavailable */
  deliver(): Promise<void>;
  /** Frees the file. Further calls have no effect. */
  release(): void;
}
