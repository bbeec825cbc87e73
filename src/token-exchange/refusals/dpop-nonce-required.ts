// Asks a client for a proof with a nonce: no fault of its own, so neither log nor trail has it.

export class DpopNonceRequired extends Error {
  /** @param nonce that the next proof has to have */
  constructor(readonly nonce: string) {
    super('the DPoP proof needs a nonce');
    this.name = 'DpopNonceRequired';
  }
}
