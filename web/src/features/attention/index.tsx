export { Attention } from "./Attention";
export { Questions } from "./Questions";
