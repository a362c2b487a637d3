/** Whose file it is: who pays, where a payment says so, and where it comes from. */
export interface UploadSender {
  readonly payer: string | null;
  readonly address: string;
}

/** A file on its way to the document that is run with it. */
export interface Upload {
  /** By which the document names it. */
  readonly id: string;
  /** The next piece of it. False: all files together hold as much as they may. */
  take(piece: Uint8Array): boolean;
  /** Puts the whole file, if there is one, where the document finds it. @throws Refusal unavailable */
  deliver(): Promise<void>;
  /** Lets go of it; twice is once. */
  release(): void;
}
