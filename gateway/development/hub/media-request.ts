/** A request for an image, for vectors or for a text from audio, as it came over the wire. */
export interface MediaRequest {
  readonly hub: string;
  readonly content_type: string;
  readonly bytes: Buffer<ArrayBuffer>;
  /** Unix seconds. */
  readonly created: number;
  /** Of the hub, where its pictures can be seen. */
  readonly base_url: string;
}

export interface MediaAnswer {
  readonly model: string;
  readonly body: object;
}
