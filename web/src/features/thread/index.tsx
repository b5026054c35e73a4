export { Header } from "./Header";
export { Thread } from "./Thread";
