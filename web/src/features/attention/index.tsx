export { Attention } from "./Attention";
export { Questions } from "./Questions";
export { SessionTrust, Trust } from "./Trust";
